/**
 * Incremented whenever the parser or compiler treats some document differently. A snapshot records the number of the rules that
 * validated its manifest, so that later rules can validate it again. Snapshots without a number count as 1.
 */
export const manifestRulesVersion = 2
