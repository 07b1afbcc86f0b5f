import { Effect, Result } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { fetchRule } from "../../../runner/git/FetchPolicy.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { formatInstallQuery, newFlowPath, parseInstallQuery } from "../../../schema/handoff/InstallLink.ts"
import type { LinkRefusal, LinkProblemCode } from "../../../schema/handoff/LinkRefusal.ts"
import { html, page } from "../../accounts/oidc/Page.ts"
import type { Language } from "../../accounts/oidc/PageWords.ts"
import { routeOf } from "../../http-kit/DeclaredRoute.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { InstallLinkApi } from "./HandoffApi.ts"

/** Texts of the page that refuses a link. The English description of the problem is part of the refusal. */
interface RefusalWords {
  readonly title: string
  readonly about: string
  readonly wholeLink: string
  readonly advice: string
  readonly start: string
  readonly problem: (code: LinkProblemCode, message: string) => string
}

const japanese: Readonly<Record<LinkProblemCode, string>> = {
  not_a_link: "インストール用のリンクではありません。",
  too_long: "リンクが長すぎます。",
  malformed_query: "リンクの書き方が正しくありません。",
  unknown_field: "リンクでは使えない項目です。",
  duplicate_field: "同じ項目が二回書かれています。",
  module_input: "モジュールの入力値はリンクに含められません。画面で入力してください。",
  missing_source: "リポジトリ（git または source）が指定されていません。",
  two_sources: "git と source はどちらか一つだけ指定します。",
  missing_field: "必要な項目がありません。",
  missing_product: "return_uri には product も必要です。",
  missing_return_uri: "product には return_uri も必要です。",
  conflicting_field: "source に含まれる内容と重複しています。",
  invalid_git_url: "認証情報・クエリ・フラグメントのない HTTPS の Git URL が必要です。",
  invalid_source: "git::https://host/repository//folder?ref=tag の形が必要です。",
  invalid_ref: "ブランチ、タグ、またはコミットが必要です。",
  invalid_path: "正規化された相対パスが必要です。",
  invalid_name: "1〜160 文字の表示名が必要です。",
  invalid_product: "product のキーの形が正しくありません。",
  invalid_return_uri: "戻り先のアドレスの形が正しくありません。",
  invalid_kind: "kind の値が正しくありません。"
}

const refusalWords: Readonly<Record<Language, RefusalWords>> = {
  en: {
    title: "This install link cannot be used",
    about: "Something in the link is not as it should be, so nothing of it was used and nothing was created.",
    wholeLink: "The link",
    advice: "Ask the sender for a corrected link.",
    start: "Open the service",
    problem: (_, message) => message
  },
  ja: {
    title: "このインストール用リンクは使えません",
    about: "リンクに問題があるため、内容は一切使われず、何も作成されていません。",
    wholeLink: "リンク全体",
    advice: "リンクの提供元に、正しいリンクを確認してください。",
    start: "サービスを開く",
    problem: (code) => japanese[code]
  }
}

/** Returns the first language in the browser's list that the page supports, or English if it supports none of them. */
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
 * Serves `GET /install`, which accepts or refuses a link as a whole. A valid link redirects to the creation flow at its
 * canonical address. For an invalid link, responds with a page that shows the reason. The page contains nothing from the
 * link. Neither response creates anything.
 */
export const installRoute = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { baseUrl } = yield* HttpSettings
    const policy = { serviceOrigin: new URL(baseUrl).origin, addresses: fetchRule(yield* GitPolicy) }
    const answer = Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      const at = url.indexOf("?")
      // Parse the raw string, because a URL parser would repair links that have to be refused.
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
