"""Who comes in, and what each may: tokens, the guard around the application, the server with its bounds."""
