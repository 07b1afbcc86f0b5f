/**
 * Incremented whenever the parser or the compiler judges the same document differently. A snapshot names the edition that
 * judged its manifest, so that a newer one knows what to judge again; a snapshot without one is edition 1.
 */
export const manifestRulesVersion = 2
