"""The pictures of memories: JPEG files in a folder beside the database."""
