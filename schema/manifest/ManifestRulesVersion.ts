/**
 * Incremented whenever the parser or the compiler starts to treat the same document differently. A snapshot records the edition
 * that validated its manifest, so that a newer edition knows what to validate again; a snapshot without one is edition 1.
 */
export const manifestRulesVersion = 2
