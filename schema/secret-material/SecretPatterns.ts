/*
 * Each pattern matches the minimum that identifies its form, and has exact or small repetition counts, so that the time that
 * a scan takes is proportional to the length of the text, even if the text is hostile.
 */

/** Keys whose prefix identifies their issuer. */
const prefixedKeys: ReadonlyArray<RegExp> = [
  /\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}/,
  /\b(?:gh[oprsu]_|github_pat_)[A-Za-z0-9]{10}/,
  /\bgl(?:pat|ptt|dt|rt|rtr|cbt|oas|soat|ft|imt|agent|ffct)-[A-Za-z0-9_-]{10}/,
  /\b(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{8}/,
  /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8}/,
  /\bsk-[A-Za-z0-9_-]{16}/,
  /\b(?:AIza[A-Za-z0-9_-]{20}|ya29\.[A-Za-z0-9_-]{10}|GOCSPX-[A-Za-z0-9_-]{10})/,
  /\b(?:npm_|hf_|rubygems_|lin_api_|ntn_|dapi|gsk_|r8_|sbp_|LTAI)[A-Za-z0-9]{20}/,
  /\b(?:pypi-|CFPAT-|PMAK-|xkeysib-|tskey-[a-z]{1,16}-|nvapi-|pplx-|xai-)[A-Za-z0-9_-]{16}/,
  /\b(?:dckr_[op]at_|figd_|glsa_|glc_|sntry[su]_|whsec_|pscale_(?:tkn|pw|oauth)_)[A-Za-z0-9+/=_-]{10}/,
  /\b(?:dop|doo|dor)_v1_[a-f0-9]{16}/,
  /\bhv[brs]\.[A-Za-z0-9_-]{12}/,
  /\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{12}/,
  /\b(?:shp(?:at|ca|pa|ss|tka)_|sq0(?:atp|csp|idp)-)[A-Za-z0-9_-]{12}/,
  /\b(?:ATATT3|ATCTT3|ATBB)[A-Za-z0-9_=-]{16}/,
  /\bSG\.[A-Za-z0-9_-]{16,24}\.[A-Za-z0-9_-]{16}/,
  /\bkey-[0-9a-f]{32}/,
  /\bsecret_[A-Za-z0-9]{32}/,
  /\bAGE-SECRET-KEY-1/,
  /\bsvc[a-z]_[A-Za-z0-9]{16}/,
  /\.atlasv1\.[A-Za-z0-9_-]{16}/,
  /\bhooks\.slack\.com\/services\/T[A-Z0-9]{6}/,
  /-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY/,
  /\bPuTTY-User-Key-File-/
]

const proseWords = "(?:-[a-z]{2,14}){0,3}"
const technicalTerm =
  "(?:http/[123]|iso-?\\d{4,5}|uuid-?v?[1-8]|aes-?\\d{3}|pkcs#?\\d{1,2}|x\\.?509|rfc-?\\d{3,4}|[ehrp]s(?:256|384|512)|base\\d{2}|md5|ipv[46]|k8s|s3|oauth2)"
const descriptor =
  "-(?:style|like|compatible|based|encoded|prefixed|formatted|issued|bit|byte|digit|char|character|letter|word)s?"

/** Words that contain a digit but are prose: `v2-style`, `40-character`, `s3-compatible`. */
const prose = `(?!(?:${technicalTerm}${proseWords}|v?\\d{1,4}(?:\\.\\d{1,3}){0,2}${proseWords}${descriptor}|v\\d{1,2}(?:\\.\\d{1,2})?(?:-[a-z]{2,14}){1,3}(?=[ \\t]+[a-z]{2}))(?![\\w+/=-]))`

/** Values of Authorization headers. A scheme followed by ordinary words is treated as prose. */
const headerForms: ReadonlyArray<RegExp> = [
  new RegExp(`\\bbearer[ \\t]{1,4}${prose}(?=[A-Za-z._~+/=-]{0,64}[0-9])[A-Za-z0-9._~+/=-]{8}`, "i"),
  /\bbearer[ \t]{1,4}[A-Za-z0-9._~+/=-]{20}/i,
  /\bbasic[ \t]{1,4}[A-Za-z0-9+/]{6,128}={1,2}/i,
  /\bauthorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:basic|token|digest|apikey)[ \t]{1,4}[A-Za-z0-9+/=._~-]{8}/i
]

/** Names that suggest a credential. */
const credentialName =
  /(?:pass(?:word|wd|phrase)|secret|token|credential|(?:api|access|account|private|secret|signing|encryption)[_-]?key(?:[_-]?id)?)/

const assigned = (value: RegExp | string) =>
  new RegExp(`${credentialName.source}["']?[ \\t]{0,4}${typeof value === "string" ? value : value.source}`, "i")

/** `name=value`, `name: value` and `--name value`. References such as `$NAME` are not values. */
const assignments: ReadonlyArray<RegExp> = [
  assigned(/=(?![=>])[ \t]{0,4}["']?[^\s"'<>{}$%.*=,;&][^\s"'<>{}]{2}/),
  // Requires a value that looks like a credential (letters with digits, or long enough), because a colon is often followed
  // by prose.
  assigned(
    `:[ \\t]{0,4}["']?(?!base64|oauth|sha[0-9]|utf-?8|rsa|ed25519|https?)${prose}(?=[!-~]{0,12}[0-9])(?=[!-~]{0,12}[A-Za-z])[!#%&(-;=?-z|~]{6}`
  ),
  assigned(/:[ \t]{0,4}["']?[A-Za-z0-9+/_=]{20}/),
  new RegExp(`(?:^|\\s)--?${credentialName.source}[ \\t]{1,4}[^\\s"'<>{}$-][^\\s"'<>{}]{2}`, "i")
]

export const secretPatterns: ReadonlyArray<RegExp> = [...prefixedKeys, ...headerForms, ...assignments]

/** Matches record ids of a control plane. Only the host assigns these ids, so a repository must not contain them. */
export const hostAuthorityPattern =
  /\b(?:ws|mbr|prj|src|snap|rep|cap|icfg|ipl|rpl|run|rgrp|sv|out|conn|pb|oshare|dep|ifc|ifb|act|pat|bkp)_(?=[a-z0-9]{0,15}[0-9])[a-z0-9]{16}/
