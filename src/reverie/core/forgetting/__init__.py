"""What is forgotten, hidden or never stored, told without its words, and taken out of files."""
