"""The demonstrator (garre2014, Figure 3c): a tire that moves comes in as datagrams and goes out as a page."""
