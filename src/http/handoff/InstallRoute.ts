import { Effect, Result } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { fetchRule } from "../../../runner/git/FetchPolicy.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { formatInstallQuery, newFlowPath, parseInstallQuery } from "../../../schema/handoff/InstallLink.ts"
import type { LinkRefusal } from "../../../schema/handoff/LinkRefusal.ts"
import { html, page } from "../../accounts/oidc/Page.ts"
import type { Language } from "../../accounts/oidc/PageWords.ts"
import { routeOf } from "../../http-kit/DeclaredRoute.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { InstallLinkApi } from "./HandoffApi.ts"
import { refusalWords } from "./RefusalWords.ts"

/** Whichever of the two languages the browser lists first; English otherwise. */
const languageOf = (accepted: string | undefined): Language =>
  /(?:^|,)\s*(en|ja)\b/i.exec(accepted ?? "")?.[1]?.toLowerCase() === "ja" ? "ja" : "en"

const refusalPage = ({ problems }: LinkRefusal, language: Language) => {
  const words = refusalWords[language]
  const items = problems.map(
    ({ code, message, path }) =>
      html`<dt>${path === "" ? words.wholeLink : path}</dt><dd>${words.problem(code, message)}</dd>`
  )
  return page({
    language,
    status: 400,
    title: words.title,
    body: html`<h1>${words.title}</h1><p>${words.about}</p><dl>${items}</dl><p class="quiet">${words.advice}</p><p><a href="/">${words.start}</a></p>`
  })
}

/**
 * `GET /install`: a link is accepted or refused as a whole. A valid link redirects to the creation flow under its canonical
 * address; an invalid one gets a page that states the reason and uses nothing from the link. Neither creates anything.
 */
export const installRoute = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { baseUrl } = yield* HttpSettings
    const policy = { serviceOrigin: new URL(baseUrl).origin, addresses: fetchRule(yield* GitPolicy) }
    const answer = Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      const at = url.indexOf("?")
      // The raw string, because a link that a parser would repair has to be refused.
      const link = parseInstallQuery(at === -1 ? "" : url.slice(at + 1), policy)
      return Result.match(link, {
        onSuccess: (good) =>
          HttpServerResponse.redirect(`${newFlowPath}?${formatInstallQuery(good)}`, {
            status: 303,
            headers: { "cache-control": "no-store" }
          }),
        onFailure: (refusal) => refusalPage(refusal, languageOf(headers["accept-language"]))
      })
    })
    yield* router.add(...routeOf(InstallLinkApi.endpoints.install), answer)
  })
)
