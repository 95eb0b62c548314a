"""Access control: tokens and rights, the guard before the application, the bounded server."""
