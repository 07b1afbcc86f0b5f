import { fileURLToPath } from "node:url"
import { builtOnce } from "./BuiltOnce.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** The script that npm runs before it packs. */
export const prepack = "node scripts/bun.mjs scripts/library.ts"

let library: Promise<void> | undefined

const build = async () => {
  const [command = "", ...args] = prepack.split(" ")
  const { exited, stderr, stdout } = Bun.spawn([command, ...args], { cwd: root, stdout: "pipe", stderr: "pipe" })
  const [said, problem, code] = await Promise.all([new Response(stdout).text(), new Response(stderr).text(), exited])
  if (code !== 0) throw new Error(said + problem)
}

/** The folder of the library as npm packs it, with declarations; compiling it takes a third of a minute, so it is done once. */
export const builtLibrary = async (): Promise<string> => {
  await (library ??= builtOnce("library", build))
  return `${root}dist/library`
}
