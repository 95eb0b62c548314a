"""Reading questions: one typed request of what is asked, of what, which and when."""
