"""What may be asked of the memory, each question one form; command line, Python, HTTP, MCP, tools of language
models and ROS are its faces."""
