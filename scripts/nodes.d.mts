export function linesOf(engines: string): { line: number; lowest: string }[]
export function newestOf(line: number, versions: readonly string[]): string | undefined
export function packageFor(platform: string, arch: string): string
