import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { svcProgram } from "../../support/SvcProgram.ts"

setDefaultTimeout(120_000)

const run = async (script: string) => {
  const { exited, stderr, stdout } = Bun.spawn(["bash", "-c", script], {
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", SVC: await svcProgram() },
    stderr: "pipe",
    stdout: "pipe"
  })
  const [out, error] = await Promise.all([new Response(stdout).text(), new Response(stderr).text()])
  return { code: await exited, out, error }
}

describe.skipIf(Bun.which("bash") === null || !existsSync("/dev/full"))("Unwritable output", () => {
  test("output that cannot be written fails every kind of command, and its help", async () => {
    const lines = ["version", "version --json", "context list", "context list --json", "--help", "plan --help"]
    for (const line of lines) {
      const { code, error } = await run(`"$SVC" ${line} > /dev/full`)
      expect([line, code, error]).toEqual([
        line,
        1,
        expect.stringContaining("Standard output could not be written (ENOSPC)")
      ])
    }
  })

  test("output that cannot be written is ignored if the reader of a pipe has read enough", async () => {
    const { error, out } = await run(`"$SVC" --help | true; echo "\${PIPESTATUS[0]}"`)
    expect([out, error]).toEqual(["1\n", ""])
  })
})
