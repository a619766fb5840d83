export function bundlePrograms(from: string, to: string): Promise<string[]>
