/**
 * How the parser names the file in its diagnostics. Separate from HclWorkerMessage.ts so that the worker need not load Effect.
 */
export const hclFileName = "file.tf"
