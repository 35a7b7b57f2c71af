import { join } from "node:path";

export interface Checkout extends AsyncDisposable {
  readonly folder: string;
}

async function run(folder: string, program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, {
    args,
    cwd: folder,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`${program} ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}

/** Another checkout, ready to be started: the folder that is named, or a commit in a temporary one. */
export async function openCheckout(
  repository: string,
  named: string,
  temporary: string,
): Promise<Checkout> {
  const stat = await Deno.stat(named).catch(() => null);
  if (stat?.isDirectory) return { folder: named, [Symbol.asyncDispose]: () => Promise.resolve() };
  const folder = join(temporary, "against");
  await run(repository, "git", ["worktree", "add", "--detach", folder, named]);
  await run(folder, Deno.execPath(), ["task", "bundles"]);
  return {
    folder,
    [Symbol.asyncDispose]: () => run(repository, "git", ["worktree", "remove", "--force", folder]),
  };
}
