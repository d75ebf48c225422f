import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * DynamoDB Local on 127.0.0.1 only. Its own main class has no option for the address and listens on every interface;
 * the server it builds is therefore given its address here, before it starts. Takes the same arguments.
 */
public final class LoopbackServer {
    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(arguments);
        for (Connector connector : jettyServerOf(proxy).getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
        }
        proxy.start();
        proxy.join();
    }

    private static Server jettyServerOf(DynamoDBProxyServer proxy) throws ReflectiveOperationException {
        Field server = DynamoDBProxyServer.class.getDeclaredField("server");
        server.setAccessible(true);
        return (Server) server.get(proxy);
    }

    private LoopbackServer() {
    }
}
