import { renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { withoutImportMeta } from "../../scripts/WithoutImportMeta.ts"
import { leftOut } from "../../src/licenses/BundledPackages.ts"
import { builtOnce } from "./BuiltOnce.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
/** A folder outside the temporary folder, because some tests start these programs as another user. */
const cache = `${root}dist/test/programs/`

/** Lets bundled modules find the files next to their source: workers, other programs and fixtures. */
const atItsSource: Bun.BunPlugin = {
  name: "at-its-source",
  setup: (build) => {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      const contents = text
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        .replaceAll("import.meta.dir", JSON.stringify(dirname(path)))
      return { contents, loader: "ts" }
    })
  }
}

const bundle = async (source: string, name: string): Promise<void> => {
  const outdir = `${cache}${process.pid}-${name}/`
  const built = await Bun.build({
    entrypoints: [source],
    outdir,
    naming: name,
    target: "bun",
    format: "esm",
    minify: true,
    plugins: [withoutImportMeta, atItsSource],
    external: leftOut
  })
  if (!built.success) throw new Error(`${source} could not be bundled: ${built.logs.map(String).join("\n")}`)
  // Renames the bundle into place atomically, because another test run may be bundling the same program.
  renameSync(`${outdir}${name}`, `${cache}${name}`)
  rmSync(outdir, { recursive: true })
}

const programs = new Map<string, Promise<void>>()

/**
 * Returns the path of a test program that is bundled into a single file once per test run. Starting the program from source
 * takes three times as long, mostly to load modules.
 */
export const bundledProgram = async (source: URL): Promise<string> => {
  const path = fileURLToPath(source)
  const name = `${path.slice(root.length).replaceAll("/", "-").replace(/\.ts$/, "")}.js`
  const built = programs.get(name) ?? builtOnce(name, () => bundle(path, name))
  programs.set(name, built)
  await built
  return `${cache}${name}`
}
