import { Effect } from "effect"

/** Creates a client for one person's session over HTTP, with its own cookies. `origin` is the server's public address. */
export const httpSession = (origin: string) => {
  const jar = new Map<string, string>()
  const send = (method: string, path: string, body: unknown = {}) =>
    Effect.promise(async () => {
      const answer = await fetch(`${origin}${path}`, {
        method,
        redirect: "manual",
        headers: {
          origin,
          "sec-fetch-site": "same-origin",
          "content-type": "application/json",
          "idempotency-key": crypto.randomUUID(),
          cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
        },
        ...(method === "GET" ? {} : { body: JSON.stringify(body) })
      })
      for (const line of answer.headers.getSetCookie()) {
        const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=")
        jar.set(name, value)
      }
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
      return text === "" ? {} : JSON.parse(text)
    })
  return {
    send,
    /** Returns the cookies, for a browser that continues this session. */
    cookies: () => [...jar].map(([name, value]) => ({ name, value, url: origin }))
  }
}
export type HttpSession = ReturnType<typeof httpSession>
