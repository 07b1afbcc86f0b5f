import { Result } from "effect"
import { originProblem } from "../../../runner/git/FetchPolicy.ts"
import { isAddress, readServerAddress } from "../../../schema/git/ServerAddress.ts"
import type { NoticeSettingsShape } from "./NoticeRows.ts"

/** Characters that RFC 3986 allows in a query. */
const plainQuery = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$/

/** The address of a receiver, and its origin, which people see instead of the address. */
export interface NoticeAddress {
  readonly address: string
  readonly host: string
}

/**
 * Parses the address of a receiver under the network policy for Git addresses. A query is allowed, because the addresses of
 * Teams contain one. The error is a sentence fragment, and never includes the address, which may contain a secret.
 */
export const readNoticeAddress = (
  text: string,
  policy: Pick<NoticeSettingsShape, "allowOrigins">
): Result.Result<NoticeAddress, string> => {
  const at = text.indexOf("?")
  const [path, query] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
  const read = readServerAddress(path)
  if (!isAddress(read)) return Result.fail(read.problem)
  if (read.scheme === "ssh") return Result.fail("must start with https://.")
  if (!plainQuery.test(query)) return Result.fail("has a query with characters that no URL query has.")
  const problem = originProblem(read, policy)
  return problem === undefined ? Result.succeed({ address: text, host: read.origin }) : Result.fail(problem)
}
