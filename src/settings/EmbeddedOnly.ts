/** The replacement for commands that need the file of the embedded database. */
export const embeddedOnly =
  "The database is in PostgreSQL: back it up, restore it and check it with pg_dump, or with point-in-time recovery."
