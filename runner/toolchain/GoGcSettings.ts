/**
 * Environment for a tool that starts no plugin: its garbage collector can be delayed, which saves a sixth of a short command's
 * run time. Plugins would inherit the setting, and some plugins would then use too much memory. Beyond the given size it collects
 * normally. Programs started by the module inherit the setting too; it affects only programs written in Go.
 */
export const goGcSettings = { GOGC: "400", GOMEMLIMIT: "1GiB" } as const
