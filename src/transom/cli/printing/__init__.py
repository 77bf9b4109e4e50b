"""What commands print: answers as tables, reports for programs, and progress."""
