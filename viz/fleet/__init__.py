"""Many runs as one folder of Parquet tables: packed, asked with DuckDB, searched for changes."""
