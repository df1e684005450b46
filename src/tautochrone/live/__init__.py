"""The live view of what is measured: terminal, page, metrics. Read-only; docs/soak.md says what it keeps."""
