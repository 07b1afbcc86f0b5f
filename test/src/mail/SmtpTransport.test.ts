import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { MailTransport } from "../../../actors/base/mail/MailTransport.ts"
import { smtpTransport, type SmtpSettings } from "../../../src/mail/SmtpTransport.ts"
import { selfSignedCertificate } from "../../fixtures/provider/Certificate.ts"
import { it } from "../../support/Effect.ts"
import { mailServer } from "../../support/MailServer.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const from = { name: "svc, of Acme", address: "svc@acme.example" }
const mail = {
  id: "mail_1",
  to: "ann@example.com",
  subject: "招待",
  text: "Open\n.\nhttps://svc.example/join#svci_x\n"
}

const through = <A, E>(settings: Partial<SmtpSettings> & { url: string }, work: Effect.Effect<A, E, MailTransport>) =>
  work.pipe(Effect.provide(smtpTransport({ from, ...settings }).pipe(Layer.provide(NodeServices.layer))))

const sending = Effect.flatMap(MailTransport, (transport) => transport.send(mail))

const certificate = Effect.gen(function* () {
  const { key, pem: cert } = yield* Effect.promise(() => selfSignedCertificate(new Date()))
  const files = yield* FileSystem.FileSystem
  const caFile = `${yield* temporaryFolder}/ca.pem`
  yield* files.writeFileString(caFile, cert)
  return { cert, key, caFile }
}).pipe(Effect.provide(NodeServices.layer))

const login = { user: "svc", password: "the-smtp-password" }
const credentials = { user: login.user, password: Redacted.make(login.password) }

describe("Mail servers", () => {
  it.live("svc sends mail unencrypted to a server on this machine, and does not alter the mail", () =>
    Effect.gen(function* () {
      const server = yield* mailServer()
      yield* through({ url: `smtp://127.0.0.1:${server.port}` }, sending)
      const [taken] = server.mails
      expect([taken?.from, taken?.to, taken?.encrypted]).toEqual(["svc@acme.example", "ann@example.com", false])
      const message = taken?.message ?? ""
      expect(message).toContain("Message-ID: <mail_1@acme.example>")
      expect(message).toContain(`Subject: =?UTF-8?B?${Buffer.from("招待").toString("base64")}?=`)
      expect(message).toContain("https://svc.example/join#svci_x")
      expect(message).toContain('From: "svc, of Acme" <svc@acme.example>')
      expect(message).toMatch(/auto-submitted: auto-generated/i)
    })
  )

  for (const mode of ["implicit", "starttls"] as const) {
    const scheme = mode === "implicit" ? "smtps" : "smtp"
    it.live(`svc verifies a mail server with TLS (${mode}) and signs in to it`, () =>
      Effect.gen(function* () {
        const { caFile, ...tls } = yield* certificate
        const server = yield* mailServer({ tls: { mode, ...tls }, login })
        const url = `${scheme}://localhost:${server.port}`
        yield* through({ url, caFile, ...credentials }, sending)
        expect(server.mails.map(({ encrypted }) => encrypted)).toEqual([true])
        const wrong = { ...credentials, password: Redacted.make("guess") }
        const refused = yield* Effect.flip(through({ url, caFile, ...wrong }, sending))
        expect(refused).toMatchObject({ permanent: false, code: "AUTH PLAIN 535" })
        expect(JSON.stringify(refused)).not.toMatch(/guess|ann@/)
      })
    )

    it.live(`a mail server with an untrusted certificate (${mode}) receives no mail`, () =>
      Effect.gen(function* () {
        const { caFile: _, ...tls } = yield* certificate
        const other = yield* certificate
        const server = yield* mailServer({ tls: { mode, ...tls }, login })
        const url = `${scheme}://localhost:${server.port}`
        const refused = yield* Effect.flip(through({ url, caFile: other.caFile, ...credentials }, sending))
        expect(refused).toMatchObject({ permanent: false })
        expect([server.mails, server.commands.includes("AUTH")]).toEqual([[], false])
      })
    )

    it.live(`a mail server with a certificate for another name (${mode}) receives no mail`, () =>
      Effect.gen(function* () {
        const { caFile, ...tls } = yield* certificate
        const server = yield* mailServer({ tls: { mode, ...tls }, login })
        const refused = yield* Effect.flip(
          through({ url: `${scheme}://127.0.0.1:${server.port}`, caFile, ...credentials }, sending)
        )
        expect(refused).toMatchObject({ permanent: false })
        expect([server.mails, server.commands.includes("AUTH")]).toEqual([[], false])
      })
    )
  }

  it.live("if TLS is required, a mail server without STARTTLS receives neither password nor mail", () =>
    Effect.gen(function* () {
      const { caFile } = yield* certificate
      const server = yield* mailServer({ login })
      const url = `smtp://localhost:${server.port}`
      expect(yield* Effect.flip(through({ url, caFile, ...credentials }, sending))).toMatchObject({ permanent: false })
      expect([server.mails, server.commands.includes("AUTH")]).toEqual([[], false])
    })
  )

  it.live("a refused email is reported as either permanently or temporarily rejected", () =>
    Effect.gen(function* () {
      const server = yield* mailServer()
      const url = `smtp://127.0.0.1:${server.port}`
      const cases = [
        ["RCPT", "550 5.1.1 <ann@example.com> is unknown", true, "RCPT TO 550"],
        ["RCPT", "450 4.2.0 come back later", false, "RCPT TO 450"],
        ["DATA", "554 5.7.1 no", true, "DATA 554"],
        ["MAIL", "452 4.3.1 full", false, "MAIL FROM 452"]
      ] as const
      for (const [command, answer, permanent, code] of cases) {
        server.refusals.set(command, answer)
        const refused = yield* Effect.flip(through({ url }, sending))
        expect({ ...refused }).toMatchObject({ permanent, code })
        expect(JSON.stringify(refused)).not.toContain("ann@example.com")
        server.refusals.clear()
      }
      server.refusals.set("CONNECT", "")
      expect(yield* Effect.flip(through({ url }, sending))).toMatchObject({ permanent: false })
    })
  )

  it.live("the mail password is read from a file, which must exist", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const passwordFile = `${yield* temporaryFolder}/password`
      yield* files.writeFileString(passwordFile, `${login.password}\n`)
      const server = yield* mailServer({ login })
      const url = `smtp://127.0.0.1:${server.port}`
      const verified = Effect.flatMap(MailTransport, ({ verify }) => verify)
      yield* through({ url, user: login.user, passwordFile }, verified)
      expect(server.mails).toEqual([])
      const missing = yield* Effect.flip(through({ url, user: login.user, passwordFile: "/nowhere" }, verified))
      expect(missing.message).toContain("SVC_SMTP_PASSWORD_FILE")
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
