import { HttpServerResponse } from "effect/http"
import type { GitHubAppForm } from "../../schema/records/GitHubApp.ts"
import { html, page } from "../accounts/oidc/Page.ts"
import { type Language, pageLanguage } from "../accounts/oidc/PageWords.ts"

const words = {
  en: {
    title: "Create a GitHub App",
    about: (place: string) =>
      `The next page, at ${place}, shows the name and the permissions of the App. You can change the name there. Sign in to ${place} first.`,
    permissions: "svc asks for these permissions in repositories:",
    after: "After the App is created, install it on the repositories that svc follows.",
    onward: (place: string) => `Continue to ${place}`
  },
  ja: {
    title: "GitHub App の作成",
    about: (place: string) =>
      `次に開く ${place} のページで、App の名前と権限を確認します。名前はそこで変更できます。先に ${place} にサインインしてください。`,
    permissions: "svc が必要とするリポジトリの権限:",
    after: "App を作成したら、svc で使うリポジトリにインストールしてください。",
    onward: (place: string) => `${place} に進む`
  }
} as const satisfies Readonly<Record<Language, unknown>>

/** Sends the manifest of a new App to GitHub when the person continues. Works without scripts. */
export const gitHubAppPage = (
  acceptLanguage: string | undefined,
  { formAction, manifest }: typeof GitHubAppForm.Type
) => {
  const language = pageLanguage(undefined, acceptLanguage)
  const { about, after, onward, permissions, title } = words[language]
  const { host, origin } = new URL(formAction)
  const asked = Object.entries(manifest.default_permissions).map(
    ([name, level]) => html`<li><code>${name}: ${level}</code></li>`
  )
  return HttpServerResponse.setHeader(
    page({
      language,
      title,
      formOrigin: origin,
      body: html`<h1>${title}</h1><p>${about(host)}</p><p>${permissions}</p><ul>${asked}</ul><p>${after}</p>
<form method="post" action="${formAction}"><input type="hidden" name="manifest" value="${JSON.stringify(manifest)}">
<div class="actions"><button class="main">${onward(host)}</button></div></form>`
    }),
    // The URL of the page contains the state, so only the origin is sent to GitHub.
    "referrer-policy",
    "strict-origin"
  )
}
