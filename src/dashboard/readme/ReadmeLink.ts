import { fileLink } from "../../../schema/git/CommitLink.ts"

/** The location of a README. */
export interface ReadmePlace {
  readonly gitAddress: string | undefined
  readonly commit: string
  /** The folder of the README in the repository. */
  readonly folder: string
}

/**
 * Returns the target of a URL in a README: an `https:` URL is unchanged, and a path becomes the address of the file on a
 * known forge. Other URLs are not rendered as links.
 */
export const readmeTarget = (address: string, { commit, folder, gitAddress }: ReadmePlace): string | undefined => {
  if (URL.canParse(address)) {
    const { href, password, protocol, username } = new URL(address)
    return protocol === "https:" && `${username}${password}` === "" ? href : undefined
  }
  if (address === "" || address.startsWith("#") || gitAddress === undefined) return undefined
  const repository = "https://repository.invalid"
  const base = `${repository}/${folder.split("/").map(encodeURIComponent).join("/")}/`
  if (!URL.canParse(address, base)) return undefined
  const { origin, pathname } = new URL(address, base)
  return origin === repository ? fileLink(gitAddress, commit, pathname.slice(1)) : undefined
}
