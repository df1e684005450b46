"""What the verbs of the command line share: options, permission, endings, live views."""
