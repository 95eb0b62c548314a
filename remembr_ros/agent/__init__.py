"""From questions to answers.

build.py makes an Agent of its configuration, agent.py is that: start there. planner.py is what every
planner is; two are llm/ and offline/. The rooms that these stand on: model/, times/, chat/.
"""
