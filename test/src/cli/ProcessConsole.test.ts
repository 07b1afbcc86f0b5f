import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Database } from "bun:sqlite"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { svcProgram } from "../../support/SvcProgram.ts"

setDefaultTimeout(120_000)

const run = async (script: string, more: Readonly<Record<string, string>> = {}) => {
  const { exited, stderr, stdout } = Bun.spawn(["bash", "-c", script], {
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", SVC: await svcProgram(), ...more },
    stderr: "pipe",
    stdout: "pipe"
  })
  const [out, error] = await Promise.all([new Response(stdout).text(), new Response(stderr).text()])
  return { code: await exited, out, error }
}

describe.skipIf(Bun.which("bash") === null || !existsSync("/dev/full"))("Unwritable output", () => {
  test("every command and its help fail if the output cannot be written", async () => {
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

  test("if the reader of a pipe has closed the pipe, a command exits without printing an error", async () => {
    const { error, out } = await run(`"$SVC" --help | true; echo "\${PIPESTATUS[0]}"`)
    expect([out, error]).toEqual(["1\n", ""])
  })

  test("`svc admin create-token` revokes the token if it cannot be printed", async () => {
    const folder = mkdtempSync(`${tmpdir()}/svc-unseen-token-`)
    try {
      const flags = `--data-dir "${folder}/data" --email ada@example.test --password-stdin`
      expect((await run(`echo 'a long enough password' | "$SVC" admin create-user ${flags}`)).code).toBe(0)
      const token = `--data-dir "${folder}/data" --subject ada@example.test --name ci --scopes read`
      const { code, error } = await run(`"$SVC" admin create-token ${token} > /dev/full`)
      expect([code, error]).toEqual([1, expect.stringContaining("so it was withdrawn. Run the command again.")])
      const database = new Database(`${folder}/data/svc.sqlite`, { readonly: true })
      const rows = database.query("SELECT name, revoked_at IS NOT NULL AS ended FROM access_tokens").all()
      database.close()
      expect(rows).toEqual([{ name: "ci", ended: 1 }])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe.skipIf(Bun.which("bash") === null || Bun.which("script") === null)("Progress", () => {
  test("progress on a terminal's standard error has no colour, even if colours are forced", async () => {
    const inspected = `script -qec '"$SVC" login http://127.0.0.1:9 --no-browser' /dev/null`
    const { out } = await run(inspected, { FORCE_COLOR: "1", TERM: "xterm-256color" })
    expect(out).toContain("cannot be reached")
    expect(out).not.toContain("\u001b[31m")
    expect(out).not.toContain("\u001b[")
  })
})
