"""The page, its JSON API and MCP for other agents: one application over a Backend.

Start reading at app.py; backend.py is the seam to a store in this process or to the nodes of a robot.
"""
