/** How the parser names the file in its diagnostics. Apart from HclWorkerMessage.ts so that the worker need not load Effect. */
export const hclFileName = "file.tf"
