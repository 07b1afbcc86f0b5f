import { mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { withoutImportMeta } from "../../scripts/WithoutImportMeta.ts"
import { leftOut, programs } from "../../src/licenses/BundledPackages.ts"
import { builtOnce } from "./BuiltOnce.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
/**
 * The folder for built programs. The folder is inside the source tree, so that modified copies of the sources can share
 * `node_modules`.
 */
const cache = `${root}dist/test/`

/**
 * The path at which a compiled binary looks for the service. This copy exists only in memory, because a build may be writing the
 * real file.
 */
const entry = `${root}dist/build/Service.ts`
const code = `import { main } from "../../${programs.service}"\nmain([], "")\n`

let program: Promise<void> | undefined

const compile = async (): Promise<void> => {
  const fresh = `${cache}${process.pid}-program/`
  mkdirSync(fresh, { recursive: true })
  // If the folder of the entry point is missing, the compiler names the entry point differently, and the binary cannot find
  // it.
  mkdirSync(dirname(entry), { recursive: true })
  const entrypoints = [
    `${root}${programs.main}`,
    entry,
    ...[
      programs.client,
      programs.agent,
      programs.sync,
      programs.confinement,
      programs.guard,
      programs.worker,
      programs.redaction,
      programs.documents
    ].map((file) => `${root}${file}`)
  ]
  const built = await Bun.build({
    entrypoints,
    files: { [entry]: code },
    root,
    target: "bun",
    format: "esm",
    splitting: true,
    minify: true,
    bytecode: true,
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [withoutImportMeta],
    external: leftOut,
    // Most of these processes exit before JIT compilation would pay off; see `scripts/build.ts`.
    compile: { outfile: `${fresh}svc`, jitPolicy: 100, autoloadDotenv: false, autoloadBunfig: false }
  })
  if (!built.success) throw new Error(`The service could not be compiled: ${built.logs.map(String).join("\n")}`)
  // Two test runs may compile the program at the same time. Each test run then replaces the program with an identical copy.
  renameSync(`${fresh}svc`, `${cache}svc`)
  rmSync(fresh, { recursive: true })
}

/**
 * Returns the path of `svc` as one file, compiled once per test run, because a test that starts `svc` many times would
 * otherwise spend most of its time loading sources. The file has no dashboard and no licences. `test:binary` tests the
 * shipped file.
 */
export const svcProgram = async (): Promise<string> => {
  await (program ??= builtOnce("svc", compile))
  return `${cache}svc`
}
