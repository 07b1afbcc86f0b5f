/**
 * The file name that the parser uses in its diagnostics. It is not in HclWorkerMessage.ts, because the worker would then
 * load Effect.
 */
export const hclFileName = "file.tf"
