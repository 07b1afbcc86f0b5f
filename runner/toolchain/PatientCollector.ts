/**
 * Environment of a tool that starts no plugin: its garbage collector may wait, which saves a sixth of a short command. Plugins
 * would inherit the setting, and some use too much memory for it. From the given size on it collects as usual. Programs of the
 * module see it too; it affects only those written in Go.
 */
export const patientCollector = { GOGC: "400", GOMEMLIMIT: "1GiB" } as const
