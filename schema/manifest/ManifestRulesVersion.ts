/**
 * Version of the validation rules, incremented whenever the parser or compiler starts to treat some document differently. A
 * snapshot records the version that validated its manifest, so that a release with newer rules validates it again. Snapshots
 * without a version count as 1.
 */
export const manifestRulesVersion = 2
