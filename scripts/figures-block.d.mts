export const KEPT: string
export const MARKS: { readonly begin: string; readonly end: string }
export function figuresBlock(kept: {
  readonly versions: Readonly<Record<string, string>>
  readonly figures: readonly unknown[]
}): string
