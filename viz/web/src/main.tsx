import { render } from "preact";

render(<p>uopviz</p>, document.getElementById("app")!);
