/** The projects that the recipes of docs/recording.md make, beside what they print. */
export interface Recipe {
  readonly name: string;
  /** Files that the recipes print: name in the manual → place in the project. */
  readonly printed: Readonly<Record<string, string>>;
  /** What any such project has. */
  readonly files: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  /** Folder of the copied module. */
  readonly moduleFolder: string;
  /** The variable that holds the key. */
  readonly variable: string;
  /** Arguments of `npx` that start the dev server. */
  readonly serve: (port: number) => readonly string[];
}

const PAGE = `export function App() {
  return <main><h1>Hello</h1><button id="buy">Buy</button></main>;
}
`;

const REACT = { react: "19.3.1", "react-dom": "19.3.1" };

export const RECIPES: readonly Recipe[] = [
  {
    name: "Vite",
    printed: {
      "vite.config.ts": "vite.config.ts",
      "analytics.tsx": "src/analytics.tsx",
      "src/main.tsx": "src/main.tsx",
    },
    files: {
      "src/App.tsx": PAGE,
      "index.html":
        '<!doctype html><title>Recipe</title><link rel="icon" href="data:,"><div id="root"></div>' +
        '<script type="module" src="/src/main.tsx"></script>\n',
    },
    dependencies: { ...REACT, vite: "8.3.8" },
    moduleFolder: "src",
    variable: "VITE_FOOTFALL_KEY",
    serve: (port) => ["vite", "--host", "127.0.0.1", "--port", String(port), "--strictPort"],
  },
  {
    name: "Next.js",
    printed: {
      "proxy.ts": "proxy.ts",
      "analytics.tsx": "app/analytics.tsx",
      "app/layout.tsx": "app/layout.tsx",
    },
    files: {
      "app/page.tsx": PAGE.replace("function App", "default function Page"),
      "app/icon.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>\n',
    },
    dependencies: {
      ...REACT,
      next: "16.4.6",
      typescript: "5.9.3",
      "@types/react": "19.3.0",
      "@types/node": "26.6.6",
    },
    moduleFolder: "app",
    variable: "NEXT_PUBLIC_FOOTFALL_KEY",
    serve: (port) => ["next", "dev", "--hostname", "127.0.0.1", "--port", String(port)],
  },
];
