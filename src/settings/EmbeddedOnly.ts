/** Describes what to use instead of commands that need the embedded database's file. */
export const embeddedOnly =
  "The database is in PostgreSQL: back it up, restore it and check it with pg_dump, or with point-in-time recovery."
