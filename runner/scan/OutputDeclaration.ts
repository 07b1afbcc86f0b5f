import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { PlacedBlock } from "./BlockMerge.ts"
import { DeclarationArguments } from "./DeclarationArguments.ts"
import type { ScannedOutput } from "./ScannedModule.ts"

export const readOutput = (
  block: PlacedBlock
): { readonly output: ScannedOutput; readonly findings: ReadonlyArray<Finding> } => {
  const args = new DeclarationArguments(block)
  const description = args.text("description")
  const output = {
    name: block.labels[0] ?? "",
    sensitive: args.boolean("sensitive", false, true),
    ephemeral: args.boolean("ephemeral", false, true),
    ...(description === undefined ? {} : { description }),
    location: block.location
  }
  return { output, findings: args.findings }
}
