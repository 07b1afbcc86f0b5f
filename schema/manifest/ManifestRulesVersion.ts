/**
 * Raised with every change of what the parser or the compiler says of one and the same document. A snapshot names the
 * edition that judged its manifest, so that a newer one knows what it has to judge again; none at all is edition 1.
 */
export const manifestRulesVersion = 2
