/** Name of the file in the parser's diagnostics. Separate from HclWorkerMessage.ts, so that the worker does not load Effect. */
export const hclFileName = "file.tf"
