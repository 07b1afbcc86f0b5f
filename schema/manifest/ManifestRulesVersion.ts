/**
 * Incremented whenever the parser or the compiler starts to treat the same document differently. A snapshot records the edition
 * that validated its manifest, so that a newer edition can find the snapshots to validate again; a snapshot without an edition
 * has edition 1.
 */
export const manifestRulesVersion = 2
