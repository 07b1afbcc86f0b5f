import { createServer, type Server, type Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { Effect } from "effect"

export interface ReceivedMail {
  readonly from: string
  readonly to: string
  /** The message as it was sent, with the leading dots restored. */
  readonly message: string
  readonly encrypted: boolean
}

export interface MailServerOptions {
  /** `implicit` uses TLS from the first byte; `starttls` offers TLS. */
  readonly tls?: { readonly mode: "implicit" | "starttls"; readonly cert: string; readonly key: string }
  /** Requires this user, authenticated with AUTH PLAIN. */
  readonly login?: { readonly user: string; readonly password: string }
}

/** Responses that replace the usual ones, keyed by command. */
type Refusals = Map<"MAIL" | "RCPT" | "DATA" | "CONNECT", string>

/** Serves one client until it finishes. */
const converse = (
  socket: Socket,
  encrypted: boolean,
  options: MailServerOptions,
  state: { readonly mails: Array<ReceivedMail>; readonly refusals: Refusals; readonly commands: Array<string> }
) => {
  let text = ""
  let data: Array<string> | undefined
  let isSignedIn = options.login === undefined
  let [from, to] = ["", ""]
  const say = (line: string) => socket.write(`${line}\r\n`)
  const refusal = (command: "MAIL" | "RCPT" | "DATA") => state.refusals.get(command)

  const authenticate = (argument: string) => {
    const { password, user } = options.login ?? { password: "", user: "" }
    isSignedIn = Buffer.from(argument, "base64").toString() === `\0${user}\0${password}`
    say(isSignedIn ? "235 ok" : "535 5.7.8 wrong")
  }

  const handle = (line: string) => {
    if (data !== undefined) {
      if (line !== ".") return void data.push(line.replace(/^\./, ""))
      state.mails.push({ from, to, message: data.join("\r\n"), encrypted })
      data = undefined
      return say("250 taken")
    }
    const word = (line.split(" ")[0] ?? "").toUpperCase()
    state.commands.push(word)
    const offersTls = options.tls?.mode === "starttls" && !encrypted
    if (word === "EHLO") {
      return say(["250-test", ...(offersTls ? ["250-STARTTLS"] : []), "250 AUTH PLAIN"].join("\r\n"))
    }
    if (word === "STARTTLS" && offersTls && options.tls !== undefined) {
      say("220 go ahead")
      socket.removeAllListeners("data")
      const secured = new TLSSocket(socket, { isServer: true, cert: options.tls.cert, key: options.tls.key })
      secured.on("error", () => secured.destroy())
      return converse(secured, true, options, state)
    }
    if (word === "STARTTLS") return say("502 not here")
    if (word === "AUTH") return authenticate(line.split(" ")[2] ?? "")
    if (word === "QUIT") return socket.end("221 bye\r\n")
    if (word === "MAIL" && !isSignedIn) return say("530 sign in first")
    if (word === "MAIL" || word === "RCPT" || word === "DATA") {
      const refused = refusal(word)
      if (refused !== undefined) return say(refused)
    }
    if (word === "MAIL") from = /<(.*?)>/.exec(line)?.[1] ?? ""
    if (word === "RCPT") to = /<(.*?)>/.exec(line)?.[1] ?? ""
    if (word !== "DATA") return say("250 ok")
    data = []
    return say("354 go ahead")
  }

  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
    for (let end = text.indexOf("\r\n"); end >= 0; end = text.indexOf("\r\n")) {
      const line = text.slice(0, end)
      text = text.slice(end + 2)
      handle(line)
    }
  })
  socket.on("error", () => socket.destroy())
  return undefined
}

/** Runs an SMTP server on loopback until the Scope closes, and records accepted messages. */
export const mailServer = Effect.fnUntraced(function* (options: MailServerOptions = {}) {
  const state = { mails: new Array<ReceivedMail>(), refusals: new Map() as Refusals, commands: new Array<string>() }
  const open = new Set<Socket>()
  const serve = (socket: Socket) => {
    open.add(socket)
    const { tls } = options
    if (state.refusals.has("CONNECT")) return void socket.destroy()
    const isImplicit = tls?.mode === "implicit"
    const spoken = isImplicit ? new TLSSocket(socket, { isServer: true, cert: tls.cert, key: tls.key }) : socket
    spoken.on("error", () => spoken.destroy())
    converse(spoken, isImplicit, options, state)
    spoken.write("220 test\r\n")
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const started = createServer(serve)
      started.listen(0, "127.0.0.1", () => resume(Effect.succeed(started)))
    }),
    (started) =>
      Effect.sync(() => {
        for (const socket of open) socket.destroy()
        started.close()
      })
  )
  const address = server.address()
  return { ...state, port: typeof address === "object" ? (address?.port ?? 0) : 0 }
})
