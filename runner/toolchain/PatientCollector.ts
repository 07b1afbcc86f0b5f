/**
 * Environment for a tool that starts no plugin: its garbage collector can be delayed, which saves a sixth of a short command's
 * run time. Plugins would inherit the setting, and some would then use too much memory. Beyond the given size it collects as
 * usual. Programs started by the module see the setting too; it affects only those written in Go.
 */
export const patientCollector = { GOGC: "400", GOMEMLIMIT: "1GiB" } as const
