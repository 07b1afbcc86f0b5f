/**
 * Environment variables that delay a tool's garbage collector, which saves a sixth of a short command's run time. Use it
 * only for a tool that starts no plugin: plugins would inherit the setting, and some would then use too much memory. Once
 * its heap exceeds the given size, the tool collects normally. Programs that the module starts also inherit the setting,
 * which affects only programs written in Go.
 */
export const goGcSettings = { GOGC: "400", GOMEMLIMIT: "1GiB" } as const
