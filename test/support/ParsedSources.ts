import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import type { SourceFile } from "typescript/unstable/ast"
import { API } from "typescript/unstable/async"

/** Parses the sources below these folders one by one, with paths relative to `root`, and returns their number. */
export const forEachSource = async (
  root: string,
  folders: ReadonlyArray<string>,
  visit: (file: string, source: SourceFile) => void
): Promise<number> => {
  const project = mkdtempSync(join(tmpdir(), "svc-sources-"))
  const config = join(project, "tsconfig.json")
  // Only parses the source, without libraries or imports.
  const compilerOptions = { noLib: true, noResolve: true, types: [], allowImportingTsExtensions: true, noEmit: true }
  const include = folders.flatMap((folder) => [join(root, folder, "**/*.ts"), join(root, folder, "**/*.tsx")])
  writeFileSync(config, JSON.stringify({ compilerOptions, include }))
  const api = new API({ cwd: root })
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [config] })
    const [opened] = snapshot.getProjects()
    if (opened === undefined) throw new Error("The project could not be opened.")
    const files = await opened.program.getSourceFileNames()
    for (const file of files) {
      const source = await opened.program.getSourceFile(file)
      if (source !== undefined) visit(relative(root, file), source)
    }
    return files.length
  } finally {
    await api.close()
    rmSync(project, { recursive: true, force: true })
  }
}
