import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import com.amazonaws.services.dynamodbv2.local.shared.access.AmazonDynamoDBLocal;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * DynamoDB Local on 127.0.0.1 only. Its own main class has no option for the address and listens on every interface;
 * the server it builds is therefore given its address here, before it starts. Takes the same arguments.
 *
 * It makes a database for each access key and keeps it, with four jobs that look through its tables each second: for
 * expired items, for indexes to be made. Tests have two hundred databases one after another, and looking through empty
 * ones would be a tenth of a processor. Whoever uses a database once says so by its access key: the jobs of such a one
 * that has no table at two looks are ended here, and never begin again. Every other database keeps its own.
 */
public final class LoopbackServer {
    private static final String USED_ONCE = "once";
    private static final long LOOKED_EACH_MILLISECONDS = 5_000;

    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(arguments);
        for (Connector connector : ((Server) valueOf(proxy, "server")).getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
        }
        proxy.start();
        endJobsOfEmptied(valueOf(valueOf(proxy, "serverHandler"), "primaryHandler"));
    }

    /** Until the process ends. The lock is the one under which databases are made. */
    private static void endJobsOfEmptied(Object handler) throws Exception {
        Map<?, ?> databases = (Map<?, ?>) valueOf(handler, "dbRequestHandlers");
        Set<Object> empty = new HashSet<>();
        Set<Object> ended = new HashSet<>();
        while (true) {
            Thread.sleep(LOOKED_EACH_MILLISECONDS);
            List<Map.Entry<?, ?>> known;
            synchronized (handler) {
                known = List.copyOf(databases.entrySet());
            }
            for (Map.Entry<?, ?> one : known) {
                Object database = one.getValue();
                if (!one.getKey().toString().startsWith(USED_ONCE) || ended.contains(database)) {
                    continue;
                }
                if (!((AmazonDynamoDBLocal) database).amazonDynamoDB().listTables().getTableNames().isEmpty()) {
                    empty.remove(database);
                } else if (!empty.add(database)) {
                    endJobs(database);
                    ended.add(database);
                }
            }
        }
    }

    private static void endJobs(Object database) throws ReflectiveOperationException {
        for (Object job : List.copyOf(((Map<?, ?>) valueOf(valueOf(database, "jobs"), "jobs")).values())) {
            Method cancel = job.getClass().getMethod("cancel");
            cancel.setAccessible(true);
            cancel.invoke(job);
        }
    }

    private static Object valueOf(Object owner, String name) throws ReflectiveOperationException {
        for (Class<?> type = owner.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field.get(owner);
                }
            }
        }
        throw new NoSuchFieldException(owner.getClass().getName() + "." + name);
    }

    private LoopbackServer() {
    }
}
