"""Where rows are counted: in memory, or in files by a database. An engine is passed as an argument, never global."""
