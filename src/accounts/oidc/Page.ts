import { createHash } from "node:crypto"
import { HttpServerResponse } from "effect/http"
import { visibleText } from "../../../schema/records/VisibleText.ts"
import type { Language } from "./PageWords.ts"

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Markup in which every inserted string has been escaped. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Inserted = string | Markup | ReadonlyArray<Markup> | undefined

const insert = (value: Inserted): string => {
  if (value === undefined) return ""
  if (value instanceof Markup) return value.text
  if (typeof value !== "string") return value.map((part) => part.text).join("")
  // Show invisible characters. A directional override in a name could otherwise reorder the surrounding text.
  return visibleText(value).replaceAll(/[&<>"']/g, (char) => entities[char] ?? "")
}

/** Template tag for markup. Escapes text and inserts markup unchanged. */
export const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<Inserted>): Markup =>
  new Markup(strings.reduce((text, part, index) => `${text}${insert(values[index - 1])}${part}`))

const style = `
:root{color-scheme:light dark;--ink:#1b1f24;--quiet:#57606a;--paper:#fff;--ground:#f3f4f6;--line:#d0d7de;--main:#0b57d0;--onmain:#fff;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--quiet:#9aa6b2;--paper:#161b22;--ground:#0d1117;--line:#30363d;--main:#7ab0ff;--onmain:#0b1a30;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.6 system-ui,"Hiragino Sans","Noto Sans JP",sans-serif}
main{max-width:28rem;margin:8vh auto;padding:2rem;background:var(--paper);border:1px solid var(--line);border-radius:12px}
@media (max-width:30rem){main{margin:0;min-height:100vh;border:0;border-radius:0}}
h1{font-size:1.375rem;line-height:1.35;margin:0 0 1rem;overflow-wrap:anywhere}
p,dl,ul{margin:0 0 1rem}ul{padding-left:1.25rem}
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem .75rem}dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}
.quiet{color:var(--quiet);font-size:.875rem;overflow-wrap:anywhere}
.bad{color:var(--bad)}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
button{font:inherit;min-height:44px;padding:.5rem 1.25rem;border-radius:8px;border:1px solid var(--line);background:transparent;color:var(--ink);cursor:pointer}
button.main{background:var(--main);border-color:var(--main);color:var(--onmain);font-weight:600}
button.link{border:0;padding:.5rem 0;color:var(--main);text-decoration:underline}
input{font:inherit;width:100%;min-height:44px;padding:.5rem .75rem;border:1px solid var(--line);border-radius:8px;background:var(--paper);color:var(--ink)}
input.code{font:600 1.25rem/1.5 ui-monospace,monospace;letter-spacing:.12em;text-transform:uppercase}
:focus-visible{outline:3px solid var(--main);outline-offset:2px}
`

const styleHash = createHash("sha256").update(style).digest("base64")

export interface PageOptions {
  readonly language: Language
  readonly title: string
  readonly body: Markup
  readonly status?: number
  /** The only origin to which forms on the page may be sent. Defaults to this server. */
  readonly formOrigin?: string
}

/** Creates a complete page that loads no scripts or images and cannot be framed or cached. */
export const page = ({ body, formOrigin = "'self'", language, status = 200, title }: PageOptions) =>
  HttpServerResponse.text(
    html`<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title} · svc</title><style>${new Markup(style)}</style></head><body><main>${body}</main></body></html>`
      .text,
    {
      status,
      contentType: "text/html; charset=utf-8",
      headers: {
        "cache-control": "no-store",
        pragma: "no-cache",
        // The server that receives the form needs this policy, because with "no-referrer", the browser would not send the
        // origin.
        "referrer-policy": "same-origin",
        "x-frame-options": "DENY",
        "content-security-policy": [
          "default-src 'none'",
          `style-src 'sha256-${styleHash}'`,
          // Browsers also enforce this directive for redirects, so if a form leads to another site, the response is a page
          // instead of a redirect (OnwardPage).
          `form-action ${formOrigin}`,
          "base-uri 'none'",
          "frame-ancestors 'none'"
        ].join("; ")
      }
    }
  )

/** Returns the part of an address that is shown to people: its origin, or the scheme of an app. */
export const placeOf = (uri: string): string => {
  const url = new URL(uri)
  return url.protocol === "https:" || url.protocol === "http:" ? url.origin : url.protocol
}
