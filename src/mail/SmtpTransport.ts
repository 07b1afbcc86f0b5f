import { Effect, FileSystem, Layer, Redacted, Schema } from "effect"
import { createTransport } from "nodemailer"
import { MailNotSent, MailTransport } from "../../actors/base/mail/MailTransport.ts"
import { isLoopbackHost } from "../http-kit/ListenAddress.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"
import { outsideTransaction } from "../../runner/thread/OutsideTransaction.ts"

/** Mail server from the operator's settings. */
export interface SmtpSettings {
  /** `smtps://host:465`, or `smtp://host:587` with STARTTLS. */
  readonly url: string
  readonly from: { readonly name: string; readonly address: string }
  readonly user?: string | undefined
  readonly password?: Redacted.Redacted | undefined
  readonly passwordFile?: string | undefined
  /** PEM certificates to trust for this server instead of the default ones. */
  readonly caFile?: string | undefined
}

const timeoutMillis = 20_000

const Refusal = Schema.Struct({
  code: Schema.optionalKey(Schema.String),
  command: Schema.optionalKey(Schema.String),
  responseCode: Schema.optionalKey(Schema.Finite)
})

// SMTP commands that the server refuses because of the mail itself. All other failures, such as a refused sign-in or a full
// server, must be fixed by the operator.
const aboutTheMail: ReadonlySet<string> = new Set(["MAIL FROM", "RCPT TO", "DATA"])

/** Keep only the codes of the server's reply, because its text may quote the address. */
const notSent = (cause: unknown): MailNotSent => {
  if (!Schema.is(Refusal)(cause)) return new MailNotSent({ permanent: false, code: "failed" })
  const { code, command = "", responseCode } = cause
  const permanent = responseCode !== undefined && responseCode >= 500 && aboutTheMail.has(command)
  const said = responseCode === undefined ? (code ?? "failed") : `${command} ${responseCode}`.trim()
  return new MailNotSent({ permanent, code: said })
}

const readText = Effect.fnUntraced(function* (file: string, setting: string) {
  const files = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    files.readFileString(file),
    () => new SettingsRefused({ message: `The file that ${setting} names cannot be read.` })
  )
  return text
})

const secretOf = Effect.fnUntraced(function* ({ password, passwordFile }: SmtpSettings) {
  if (passwordFile === undefined) return password
  const text = yield* readText(passwordFile, "SVC_SMTP_PASSWORD_FILE")
  return Redacted.make(text.replace(/\r?\n$/, ""))
})

/**
 * Sends mail over SMTP. TLS is required and verified, except for a server on this machine without a configured certificate. Fails
 * with `SettingsRefused` if a file cannot be read.
 */
export const smtpTransport = (settings: SmtpSettings) =>
  Layer.effect(
    MailTransport,
    Effect.gen(function* () {
      const { caFile, from, user } = settings
      const url = new URL(settings.url)
      const host = url.hostname.replace(/^\[|\]$/g, "")
      const secure = url.protocol === "smtps:"
      const inClear = !secure && isLoopbackHost(host) && caFile === undefined
      const ca = caFile === undefined ? undefined : yield* readText(caFile, "SVC_SMTP_CA_FILE")
      const secret = yield* secretOf(settings)
      const mailer = yield* Effect.acquireRelease(
        Effect.sync(() =>
          createTransport({
            host,
            port: Number(url.port) || (secure ? 465 : 587),
            secure,
            requireTLS: !secure && !inClear,
            ignoreTLS: inClear,
            tls: { minVersion: "TLSv1.2", rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
            ...(user === undefined || secret === undefined ? {} : { auth: { user, pass: Redacted.value(secret) } }),
            connectionTimeout: timeoutMillis,
            greetingTimeout: timeoutMillis,
            socketTimeout: timeoutMillis,
            disableFileAccess: true,
            disableUrlAccess: true
          })
        ),
        (transport) => Effect.sync(() => transport.close())
      )
      const attempt = <A>(work: () => Promise<A>) =>
        Effect.asVoid(Effect.tryPromise({ try: work, catch: notSent })).pipe(
          outsideTransaction("A mail is sent"),
          Effect.timeoutOrElse({
            duration: timeoutMillis * 3,
            orElse: () => Effect.fail(new MailNotSent({ permanent: false, code: "ETIMEDOUT" }))
          })
        )
      return MailTransport.of({
        send: Effect.fn("SmtpTransport.send")(({ id, subject, text, to }) =>
          attempt(() =>
            mailer.sendMail({
              from,
              to: { name: "", address: to },
              subject,
              text,
              messageId: `<${id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
              headers: { "auto-submitted": "auto-generated" }
            })
          )
        ),
        verify: attempt(() => mailer.verify()).pipe(Effect.withSpan("SmtpTransport.verify"))
      })
    })
  )
