import { useQuery } from "@tanstack/react-query"
import type { OptionalFamily } from "../../../schema/api/ExtensionFamily.ts"
import { familiesOffQuery } from "../api/FamilyQueries.ts"

/**
 * Returns true if the server offers an optional route family. Returns false until the list of families has been read. If the
 * list cannot be read, the family is treated as available, and the server refuses the family's requests if the family is
 * disabled.
 */
export const useOffers = (family: OptionalFamily): boolean => {
  const { data, isPending } = useQuery(familiesOffQuery)
  return !isPending && data?.includes(family) !== true
}
